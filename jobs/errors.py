"""The errors of jobs."""


class LeaseLost(Exception):
    """This process does not hold the job's lease: another worker or no worker holds it."""
