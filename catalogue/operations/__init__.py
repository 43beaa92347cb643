"""All functions that change the catalogue. Only they write to its tables.

The rows of products are the source of truth. Cards, lists, suggestions and the search index are derived from them. After a crash,
jobs update the derived data by the rows of `product_changes_by_hour` and `product_schedule_by_minute`.
"""

from catalogue.operations.cards import (
    ADD_LIST_PLACES,
    DELETE_CARD,
    INSERT_CARD,
    LIST_PLACES,
    REMOVE_LIST_PLACES,
    ListKey,
    card_statements,
    compute_list_positions,
    list_positions,
    move_list_places,
    popularity_rank,
    rating_rank,
    refresh_cards,
    repair_unrecorded_card,
    stored_places,
)
from catalogue.operations.categories import (
    MAX_CATEGORY_DESCRIPTION,
    MAX_CATEGORY_NAME,
    MAX_DEPTH,
    MAX_FORMER_SLUGS,
    MAX_PINNED_IN_CATEGORY,
    check_category,
    fingerprint_category,
    fingerprint_category_picture,
    follow_category,
    follow_order_again,
    lift_category,
    order_category_products,
    remove_category,
    reorder_category,
    restore_category,
    save_category,
    save_category_picture,
)
from catalogue.operations.claims import (
    CLAIM_SKU,
    CLAIM_SLUG,
    Claim,
    claim_names,
    is_claimed,
    release_claims,
)
from catalogue.operations.featured import (
    DELETE_FEATURED_CARD,
    FEATURE_TYPES,
    FEATURED_LENGTH,
    INSERT_FEATURED,
    can_be_shown,
    pin_on_front_page,
    rebuild_featured,
    refresh_featured,
)
from catalogue.operations.picture_uploads import (
    add_upload,
    decode_upload,
    remove_upload,
    sweep_incoming,
)
from catalogue.operations.price_history import (
    add_former_prices,
    list_asked_prices,
    price_statements,
    record_prices,
)
from catalogue.operations.product_changes import (
    COLOURS_CHANGED,
    list_changed_products,
    record_product_change,
)
from catalogue.operations.products import (
    INSERT_VARIANT,
    UPDATE_AVAILABILITY,
    UPDATE_PRODUCT,
    add_picture,
    change_product,
    change_product_status,
    check_save,
    duplicate_product,
    list_save_refusals,
    put_picture_back,
    save_pictures,
    save_product,
    save_variant,
    set_availability,
    set_popularity,
    set_rating,
)
from catalogue.operations.related import (
    INSERT_RELATED,
    RELATED_LENGTH,
    list_related_with_pins,
    rebuild_related,
    rebuild_related_in_steps,
    refresh_related,
    related_statement,
    replace_related_card,
)
from catalogue.operations.schedule import (
    DELETE_SCHEDULE,
    follow_schedule,
    list_scheduled_products,
    postpone_schedule,
    retry_product,
    schedule_minute,
    schedule_product,
)
from catalogue.operations.suggestions import (
    DELETE_PREFIX_ROW,
    INSERT_PREFIX_ROW,
    prefix_columns,
    rebuild_prefixes,
    refresh_prefixes,
)
