#!/bin/sh
echo '{"errorType":"PaymentDeclined","errorMessage":"card expired"}' >&2
exit 1
