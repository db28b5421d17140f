#!/bin/sh
trap "" TERM
sleep 60
