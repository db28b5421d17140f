#!/bin/sh
cat > /dev/null
echo "cannot reach the database" >&2
exit 3
