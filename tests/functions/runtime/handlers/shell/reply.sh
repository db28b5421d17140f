#!/bin/sh
echo "a line of the log" >&2
cat
