#!/usr/bin/env bash
# Installs what tests need besides Python packages: Debian's Chromium, which prints a book to PDF.
set -euo pipefail
for name in chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null; then
    echo "Chromium is there: $(command -v "$name")"
    exit 0
  fi
done
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "Chromium is missing, and only root can install it with apt-get: tests that print are left out."
  exit 0
fi
echo "Installing Debian's Chromium with apt-get ..."
export DEBIAN_FRONTEND=noninteractive
if apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-liberation >/dev/null; then
  echo "Installed: $(command -v chromium)"
else
  echo "apt-get could not install Chromium; what needs it says so in the tests."
fi
