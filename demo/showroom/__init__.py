"""The goods of the showroom: plain data that knows neither Django nor Cassandra."""
