"""Everything that happens to stock. Each step is one conditional batch in one partition, and doing it twice does it once.

    received > available > held > committed > shipped

A hold's id is made of order, line and warehouse, so a step that was repeated (or whose answer was lost) meets its
own row and is recognised. Arithmetic reads a value once a batch: so one static UPDATE and one row in each, or one row
for each of those who hold together (see `combining`).
"""

from inventory.operations.copying import stock_copied
from inventory.operations.holding import HOLD_FOR, held, hint_removed, hinted, holds_renewed
from inventory.operations.ledger import numbers_rebuilt
from inventory.operations.moving import committed, moved_to, released, restocked, shipped
from inventory.operations.promising import sold_ahead
from inventory.operations.receiving import stock_adjusted, stock_received
