# One image for the web server, the workers and the command line. It runs as a user without rights, on a root file system that may be read-only.
FROM python:3.11-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/wisdomagent
COPY requirements/runtime.txt /build/requirements/runtime.txt
RUN /opt/wisdomagent/bin/pip install --require-hashes -r /build/requirements/runtime.txt
COPY pyproject.toml README.md LICENSE NOTICE /build/
COPY runtime /build/runtime
COPY search /build/search
COPY grounding /build/grounding
COPY worker /build/worker
COPY api /build/api
RUN /opt/wisdomagent/bin/pip install --no-deps /build

FROM python:3.11-slim-bookworm
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /tmp --shell /usr/sbin/nologin wisdom
COPY --from=build /opt/wisdomagent /opt/wisdomagent
ENV PATH=/opt/wisdomagent/bin:$PATH HOME=/tmp PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
WORKDIR /tmp
STOPSIGNAL SIGTERM
ENTRYPOINT ["wisdom"]
CMD ["serve", "--host", "0.0.0.0"]
