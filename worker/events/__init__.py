"""Events on their way: from the outbox into each tenant's log and over a bus, and what is counted from them."""
