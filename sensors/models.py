"""The tables of the warehouses' sensors and their readings."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB

_DAYS_KEPT = 90 * 24 * 3600


class Sensor(Model):
    """A2: the devices that may send readings from the warehouses.

    Bound: 200 rows (sensors.readings.MAX_SENSORS).
    Writer: sensors.readings.add_sensor, remove_sensor.
    """

    __table_name__ = "sensors"
    __partition_bytes__ = 50 * KB
    __personal_data__ = None
    scope = columns.Text(partition_key=True)  # "all": there is one list
    serial_number = columns.Text(primary_key=True)
    warehouse = columns.Text()  # the warehouse's key
    key_hash = columns.Blob()  # the hash of the token that the device sends


class SensorReading(Model):
    """A2: a sensor's readings of a day (UTC), newest first.

    Bound: a reading of each of the two kinds a second makes 172,800 rows of 50 bytes, 10 MB.
    Writer: sensors.readings.ReadingWriter. The write timestamp is the reading's own time, so that a reading may be written twice.
    """

    __table_name__ = "sensordata"
    __partition_bytes__ = 10 * MB
    __options__ = {
        "default_time_to_live": _DAYS_KEPT,
        "compaction": {
            "class": "TimeWindowCompactionStrategy",
            "compaction_window_unit": "DAYS",
            "compaction_window_size": "3",
        },
    }
    __personal_data__ = None
    date = columns.Date(partition_key=True)
    serial_number = columns.Text(partition_key=True)
    ts = columns.DateTime(primary_key=True, clustering_order="DESC")  # whole seconds
    type = columns.Text(primary_key=True)  # temperature, °C, or humidity, %
    value = columns.Double()


class SensorQuarter(Model):
    """A2: the lowest and the highest value in each quarter of an hour of a sensor's day (UTC). Each process writes its own parts.

    Bound: 96 quarters of an hour with two kinds of readings, and a part for each process and hour: 2 MB with 200 parts of each.
    Writer: sensors.readings.ReadingWriter. It writes the rows of a part as a whole, and no other process writes them.
    """

    __table_name__ = "sensor_quarters"
    __partition_bytes__ = 4 * MB
    __options__ = {"default_time_to_live": _DAYS_KEPT}
    __personal_data__ = None
    date = columns.Date(partition_key=True)
    serial_number = columns.Text(partition_key=True)
    quarter = columns.DateTime(primary_key=True)
    type = columns.Text(primary_key=True)
    part = columns.UUID(primary_key=True)
    lowest = columns.Double()
    highest = columns.Double()
