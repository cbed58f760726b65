#!/usr/bin/env bash
# Installs what tests need besides Python packages, from Debian: Chromium, which prints a book to
# PDF and opens the pages, a Redis server, in which several processes share their limits, node,
# which builds the scripts of the pages, and Caddy and nginx, which stand before the service.
set -euo pipefail

found() { # the first of the commands that is there
  for name in "$@"; do
    command -v "$name" && return 0
  done
  return 1
}

updated=""
install() { # WHAT "what is left out without it" PACKAGES...
  local what=$1 without=$2
  shift 2
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "$what is missing, and only root can install it with apt-get: $without."
    return 0
  fi
  echo "Installing Debian's $what with apt-get ..."
  export DEBIAN_FRONTEND=noninteractive
  if { [ -n "$updated" ] || apt-get update -qq; } \
    && updated=yes && apt-get install -y -qq --no-install-recommends "$@" >/dev/null; then
    echo "Installed $what."
  else
    echo "apt-get could not install $what; what needs it says so in the tests."
  fi
}

if place=$(found chromium chromium-browser google-chrome); then
  echo "Chromium is there: $place"
else
  install Chromium "tests that print or open pages are left out" chromium fonts-liberation
fi

if place=$(found redis-server); then
  echo "Redis is there: $place"
else
  install Redis "tests that share limits are left out" redis-server
  if [ -d /run/systemd/system ]; then # the tests start their own
    systemctl disable --now --quiet redis-server 2>/dev/null || true
  fi
fi

if place=$(found npm); then
  echo "node is there: $place"
else
  install node "the scripts of the pages are not checked" nodejs npm
fi

if place=$(PATH="$PATH:/usr/sbin" found nginx) && found caddy >/dev/null; then
  echo "Caddy and nginx are there: $place"
else
  install "Caddy and nginx" "tests of the proxies' recipes are left out" caddy nginx-light
  if [ -d /run/systemd/system ]; then # the tests start their own
    systemctl disable --now --quiet caddy nginx 2>/dev/null || true
  fi
fi
