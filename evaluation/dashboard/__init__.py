"""The owner's dashboard: what is counted, what it comes to (forecast, cost, alarms), and how the count is kept."""
