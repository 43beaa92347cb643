"""What can go wrong with a job."""


class LeaseLost(Exception):
    """Another worker has the job, or none ever got it."""
