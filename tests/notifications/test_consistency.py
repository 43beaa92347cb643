"""The consistency check of notifications and watched prices: what is broken by hand is named and repaired."""

from uuid import uuid4

from cassandra.util import uuid_from_time

from cassandra_db import current_time
from catalogue.operations import change_product_status
from catalogue.queries import get_product_at_quorum
from consistency.findings import Scope
from notifications import operations
from notifications.entities import News
from price_alerts import queries
from price_alerts.operations import watch_price
from tests.consistency.test_check_consistency import cql, found, repair
from tests.factories import make_product, make_user
from tests.notifications.telling import TTLS, list_told
from tests.reads import existing


def test_i42_notifications_expire_with_their_event_and_go_with_their_member() -> None:
    user, gone, now = make_user(), uuid4(), current_time()
    news = News("order_paid", user.pk, now, {"order": "7KQF-3M9X", "what": "order_paid"})
    operations.tell([news])
    only = Scope(users=frozenset({user.pk, gone}))
    assert found(only, "I42") == []
    cql(
        "INSERT INTO notifications (user_id, notification_id, kind) VALUES (%s, %s, 'order_paid')",
        gone,
        uuid_from_time(now),
    )
    lone = uuid_from_time(now)
    cql(
        "UPDATE notifications SET read = true WHERE user_id = %s AND notification_id = %s",
        user.pk,
        lone,
    )
    cql(
        "INSERT INTO notifications (user_id, notification_id, kind, ids) VALUES (%s, %s, %s, %s) USING TTL 99999999",
        user.pk,
        news.notification_id,
        news.kind,
        news.dump_ids(),
    )
    named = " ".join(found(only, "I42"))
    for words in ("of a member who is gone", "it has no kind", "does not expire with its event"):
        assert words in named
    assert repair(only, "I42").is_clean
    (row,) = TTLS.all(user_id=user.pk)
    assert row.seconds <= 30 * 24 * 3600
    assert [each.line.path for each in list_told(user.pk)] == ["/orders/7KQF-3M9X/"]


def test_i43_watched_prices_and_their_watchers_agree() -> None:
    user, stranger, now = make_user(), uuid4(), current_time()
    jug, cup, away = make_product("Jug"), make_product("Cup"), make_product("Away")
    for product in (jug, cup, away):
        watch_price(user.pk, product.product_id, now)
    only = Scope(users=frozenset({user.pk}), products=frozenset({jug.product_id, cup.product_id}))
    assert found(only, "I43") == []
    change_product_status(existing(get_product_at_quorum(away.product_id)), "archived", now)
    lone = make_product("Lone")
    cql(
        "INSERT INTO watched_products (user_id, product_id, since) VALUES (%s, %s, %s)",
        user.pk,
        lone.product_id,
        now,
    )
    cql(
        "INSERT INTO watchers_by_product (product_id, partition, user_id, since) VALUES (%s, %s, %s, %s) USING TIMESTAMP %s",
        cup.product_id,
        queries.find_partition(stranger),
        stranger,
        now,
        int(now.timestamp() * 1000) * 1000,
    )
    cql("UPDATE watched_products SET watch_count = 9 WHERE user_id = %s", user.pk)
    named = " ".join(found(only, "I43"))
    for words in ("watcher is missing", "does not watch it", "it is gone", "9, not 4"):
        assert words in named
    repair(only, "I43")
    assert found(only, "I43") == []
    assert len(queries.list_watched(user.pk)) == 3
