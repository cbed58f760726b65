# ByTheBook with its models: docker build -t bythebook .
# Runs as a user of its own, with a read-only root file system; everything it writes is in /data.

FROM python:3.12-slim-bookworm AS build
WORKDIR /build
COPY requirements/setup.txt requirements/run.txt requirements/
RUN python -m venv /opt/bythebook \
    && /opt/bythebook/bin/pip install --no-cache-dir --require-hashes -r requirements/run.txt -r requirements/setup.txt
COPY pyproject.toml README.md LICENSE ./
COPY src src
COPY examples examples
RUN /opt/bythebook/bin/pip install --no-cache-dir --no-deps --no-build-isolation . \
    && /opt/bythebook/bin/python -m compileall -q /opt/bythebook/lib

FROM python:3.12-slim-bookworm
RUN useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin bythebook \
    && install -d -o bythebook -g bythebook -m 0700 /data
COPY --from=build /opt/bythebook /opt/bythebook
ENV PATH=/opt/bythebook/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    BYTHEBOOK_DATA_DIR=/data \
    BYTHEBOOK_HOST=0.0.0.0
USER bythebook
WORKDIR /data
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/livez', timeout=4)"]
ENTRYPOINT ["bythebook"]
CMD ["serve"]
