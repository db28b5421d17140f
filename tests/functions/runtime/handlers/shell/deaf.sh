#!/bin/sh
# Never reads its input.
exec echo "plain words"
