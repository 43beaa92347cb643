"""Answers that get lost on their way from Cassandra."""

from typing import Any

from cassandra import OperationTimedOut

from cassandra_db.configuration import CONDITIONAL


class AnswerLosingSession:
    """The driver's session, which loses the answer to each first conditional write after it was carried out."""

    def __init__(self, real: Any) -> None:
        self.real, self.lost_count = real, 0
        self.seen: set[int] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def execute(self, statement: Any, **kwargs: Any) -> Any:
        answer = self.real.execute(statement, **kwargs)
        if kwargs.get("execution_profile") == CONDITIONAL and id(statement) not in self.seen:
            self.seen.add(id(statement))
            self.last_statement = statement  # keeps its id from being used again
            self.lost_count += 1
            raise OperationTimedOut
        return answer
