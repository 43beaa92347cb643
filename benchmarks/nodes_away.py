"""Measures checkouts while nodes go away: three nodes on loopback, replication 3, real HTTP.

    python -m benchmarks.nodes_away                        # 500 checkouts in each part
    python -m benchmarks.nodes_away --checkouts 60         # quicker

Five buyers a second come. The first part warms up nodes and shop. In the second part all nodes run. In the third part a node is
killed (kill -9) during the checkouts. Then a second node is killed, too: the checkout must answer 503, charge nothing, keep the cart,
and work again when the nodes are back. In the last part a node is paused (SIGSTOP) for 30 seconds during the checkouts.
`manage.py check_consistency` checks the shop at the end.

Nodes, shop and buyers share this machine; the nodes are the benchmark's own. Prints a line for each part. Ends with status 1 if a
buyer saw an error page, an order was lost or doubled, a buyer waited beyond MAX_WAIT_SECONDS, or the check has findings.
"""

import asyncio
import math
import os
from argparse import Namespace
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from time import perf_counter, sleep
from uuid import uuid4

from benchmarks.buyers import NO_ANSWER, Answer, Browser, Buyer, make_guest_cart, run_buyers
from benchmarks.flash_sale import Stocked, get_stock_numbers, make_stocked_product
from benchmarks.nodes import Nodes, run_nodes
from benchmarks.pages import serve_shop
from benchmarks.setup import is_shop_consistent, make_parser, own_keyspace

KEYSPACE = "stoa_nodes_away"
FATAL = (NO_ANSWER, 500, 502, 503, 504)
WARM_UP, ALL_THERE, KILLED = "warming up", "no node away", "one node killed"
# Nodes that have just started compile their code: the first hundreds of buyers wait much longer than later ones.
WARM_UP_CHECKOUTS = 250
# The maximum wait of the slowest buyer for a confirmed order, by part.
MAX_WAIT_SECONDS = {ALL_THERE: 60.0, KILLED: 90.0}


class Run:
    """A run of this benchmark: its parts, and the problems found."""

    def __init__(
        self, nodes: Nodes, port: int, checkouts: int, rate: float, bounds: Mapping[str, float]
    ) -> None:
        self.nodes, self.port, self.checkouts, self.rate = nodes, port, checkouts, rate
        self.bounds = bounds
        self.wrong: list[str] = []

    def say(self, line: str, wrong: list[str]) -> None:
        """Print a part's figures and its problems, and keep the problems."""
        self.wrong += wrong
        print(f"{line}; {'; '.join(wrong) or 'none lost, none doubled'}", flush=True)

    def checkouts_while(
        self,
        what: str,
        harm: Callable[[], Awaitable[None]] | None = None,
        *,
        checkouts: int | None = None,
    ) -> None:
        """Let buyers order, and call `harm` when a third of the buyers have their confirmation."""
        count = checkouts or self.checkouts
        product = make_stocked_product("Thing", count)
        buyers = [_make_buyer(self.port, product) for _ in range(count)]

        async def together() -> None:
            everybody = asyncio.create_task(run_buyers(buyers, count / self.rate))
            while (
                sum(bool(each.paid_number) for each in buyers) < count / 3 and not everybody.done()
            ):
                await asyncio.sleep(0.05)
            if harm:
                await harm()
            await everybody

        began = perf_counter()
        asyncio.run(together())
        took = perf_counter() - began
        answers = sum((each.answers for each in buyers), Counter[int]())
        errors = {status: answers[status] for status in FATAL if answers[status]}
        waits = sorted(each.seconds for each in buyers)
        wrong = [
            f"{each.email} got {each.last_heading!r}" for each in buyers if not each.paid_number
        ]
        wrong += [f"errors were answered: {errors}"] if errors else []
        wrong += [line for each in buyers if (line := find_order_problem(each))]
        numbers = get_stock_numbers(product.variant_id)
        if (numbers["committed"], numbers["reserved"]) != (count, 0):
            wrong.append(f"the stock says {dict(numbers)}")
        if waits[-1] > (most := self.bounds.get(what, math.inf)):
            wrong.append(f"the slowest waited {waits[-1]:.1f} s, not {most:g}")
        self.say(
            f"{what}: {count} checkouts in {took:.0f} s, answered after {waits[len(waits) // 2]:.1f} s (median), "
            f"{waits[-1]:.1f} s (the slowest); error pages {sum(errors.values())}",
            wrong,
        )

    def two_gone(self, first: str, second: str) -> None:
        """Kill node `second`; `first` is killed already. Open the checkout, which must fail, start both nodes again, and order."""
        buyer = _make_buyer(self.port, make_stocked_product("Thing", 1))
        # A killed node loses the writes of its last tenth of a second. Then the cart would be on only one of three nodes:
        # docs/operations/configuration.md, "What a power cut or a killed node may lose".
        sleep(1)
        self.nodes.kill(second)
        began = perf_counter()
        answer = asyncio.run(_asked(buyer))
        took, wrong = perf_counter() - began, []
        if answer.status != 503 or "retry-after" not in answer.headers or not answer.heading:
            wrong.append(f"the checkout answered {answer.status} {answer.heading!r}")
        if "nothing was charged" not in answer.text.lower() and "cart" not in answer.text.lower():
            wrong.append("nobody says what is with the cart")
        self.nodes.start_missing()
        began = perf_counter()
        buyer.answers.clear()
        asyncio.run(buyer.buy())
        wrong += [f"afterwards {buyer.last_heading!r}"] if not buyer.paid_number else []
        wrong += [line] if (line := find_order_problem(buyer)) else []
        self.say(
            f"two nodes gone: answered after {took:.1f} s: {answer.status} {answer.heading!r}, Retry-After "
            f"{answer.headers.get('retry-after')}; {first} and {second} back: ordered from the same cart after "
            f"{perf_counter() - began:.1f} s",
            wrong,
        )


async def _asked(buyer: Buyer) -> Answer:
    browser = Browser(buyer.port, buyer.cookies, 40)
    answer = await browser.request("GET", "/checkout/")
    browser.close()
    return answer


def _make_buyer(port: int, product: Stocked) -> Buyer:
    """Return a buyer who is about to order one unit."""
    email = f"buyer-{uuid4().hex}@example.com"
    cookies = make_guest_cart([(product.product_id, product.variant_id, 1)], email)
    return Buyer(port, cookies, email=email, max_submits=60, patience=180)


def find_order_problem(buyer: Buyer) -> str:
    """Return a text about the problem unless the buyer has exactly one order, which is confirmed and was paid once."""
    from orders import queries

    orders = [
        order
        for each in queries.list_order_ids_by_email(buyer.email)
        if (order := queries.get_order(each))
    ]
    paid = [order for order in orders if (order.state, order.payment) == ("confirmed", "paid")]
    if [order.number for order in paid] != [buyer.paid_number] or len(orders) != 1:
        found = [(order.number, order.state, order.payment) for order in orders]
        return f"{buyer.email} got {buyer.paid_number!r}, and there is {found}"
    if (order := paid[0]).captured != order.total:
        return f"{order.number} costs {order.total}, and {order.captured} were taken"
    return ""


def main() -> int:
    """Run the parts, print, and return the exit status."""
    args = _arguments()
    with run_nodes(3) as nodes:
        os.environ |= nodes.environment
        with own_keyspace(KEYSPACE, keep=True, STOA_DEMO="1", COUNT_STATEMENTS="0"):
            return _run(args, nodes)


def _run(args: Namespace, nodes: Nodes) -> int:
    _, second, third = nodes.names

    async def kill() -> None:
        nodes.kill(second)

    async def pause() -> None:
        with nodes.pause(third):
            await asyncio.sleep(args.pause)

    with serve_shop(KEYSPACE) as server:
        bounds = {} if args.without_bounds else MAX_WAIT_SECONDS
        run = Run(nodes, server.port, args.checkouts, args.rate, bounds)
        run.checkouts_while(WARM_UP, checkouts=min(WARM_UP_CHECKOUTS, args.checkouts))
        run.checkouts_while(ALL_THERE)
        run.checkouts_while(KILLED, kill)
        run.two_gone(second, third)
        run.checkouts_while(f"one node paused for {args.pause:.0f} s", pause)
    return int(not is_shop_consistent() or bool(run.wrong))


def _arguments() -> Namespace:
    parser = make_parser("nodes_away", __doc__)
    parser.add_argument("--checkouts", type=int, default=500)
    parser.add_argument("--rate", type=float, default=5.0, help="how many of them arrive a second")
    parser.add_argument(
        "--pause", type=float, default=30.0, help="for how many seconds a node is paused"
    )
    parser.add_argument(
        "--without-bounds", action="store_true", help="however long it takes, for a busy machine"
    )
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
