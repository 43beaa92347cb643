"""The rooms of the house, and which may call which."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# A room may import itself and the rooms named here. `storefront` and `adminpanel` put the others together.
MAY_IMPORT = {
    "devtools": {"accounts", "cassandra_db"},
    "cassandra_db": {"devtools"},
    "jobs": {"cassandra_db"},
    "web": {"jobs", "cassandra_db"},
    "pricing": {"catalogue", "web", "jobs", "cassandra_db"},
    "catalogue": {"pricing", "web", "jobs", "cassandra_db"},
    "mail": {"web", "jobs", "cassandra_db"},
    "promotions": {"pricing", "catalogue", "web", "jobs", "cassandra_db"},
    "analytics": {"pricing", "catalogue", "web", "jobs", "cassandra_db"},
    "inventory": {"pricing", "catalogue", "web", "jobs", "cassandra_db"},
    "notifications": {"inventory", "catalogue", "pricing", "mail", "web", "jobs", "cassandra_db"},
    "cart": {"promotions", "pricing", "catalogue", "inventory", "mail", "web", "jobs", "cassandra_db"},
    "accounts": {"cart", "mail", "pricing", "catalogue", "web", "jobs", "cassandra_db"},
    "payments": {"orders", "inventory", "pricing", "jobs", "cassandra_db", "demo"},
    "orders": {
        "payments",
        "analytics",
        "promotions",
        "accounts",
        "cart",
        "inventory",
        "pricing",
        "catalogue",
        "mail",
        "web",
        "jobs",
        "cassandra_db",
    },
}
MAY_IMPORT["orders"].add("notifications")
MAY_IMPORT["checkout"] = {"orders"} | MAY_IMPORT["orders"]
MAY_IMPORT["adminpanel"] = MAY_IMPORT["consistency"] = MAY_IMPORT["storefront"] = MAY_IMPORT["demo"] = {
    "orders"
} | MAY_IMPORT["orders"]
ROOMS = sorted(MAY_IMPORT)

# Lower files know nothing of higher ones: urls -> views -> queries | operations -> models.
LAYERS = {
    "models": 0,
    "errors": 0,
    "queries": 1,
    "operations": 2,
    "forms": 2,
    "jobs": 3,
    "privacy": 3,
    "views": 3,
    "urls": 4,
}


def kind_of(path: Path) -> str:
    """Return what a file is: `views` for views.py, and for each file of a package views/."""
    return path.parent.name if path.parent.name in LAYERS else path.stem


FILES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
VIEWS = [path for path in FILES if kind_of(path) == "views"]


def inside(path: Path) -> str:
    """Return a file's path within the repository."""
    return str(path.relative_to(ROOT))


def modules_of(room: str) -> list[str]:
    """Return the dotted names of a room's modules, without its management commands."""
    found = []
    for path in sorted((ROOT / room).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if "management" in parts or parts[-1] in {"settings", "wsgi"}:
            continue
        found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return found
