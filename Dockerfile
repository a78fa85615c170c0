# One image for every job; the command says which:
#
#   docker build -t causeway:0.1.0 .
#   docker run --rm causeway:0.1.0 --help
#
# Node itself comes from the lock file (the package node-linux-*), so both stages need no image but
# Debian's and, to install packages with, any npm.

ARG BUILD_IMAGE=node:26-trixie-slim
ARG RUNTIME_IMAGE=debian:trixie-slim

# What runs beside our own files: production packages, and the pinned Node.
FROM ${BUILD_IMAGE} AS packages
WORKDIR /causeway
COPY package.json package-lock.json .npmrc ./
RUN npm install --no-save --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error \
 && mkdir runtime && mv node_modules/node-linux-*/bin/node runtime/node \
 && rm -rf node_modules/node-linux-* package-lock.json .npmrc

FROM ${BUILD_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error
COPY . .
RUN PATH="/build/node_modules/.bin:$PATH" ./node_modules/node-linux-*/bin/node scripts/build.ts

FROM ${RUNTIME_IMAGE}
# libatomic1: the pinned Node needs it. nft: what the kernel's rules of others are read with.
# keepalived: for the gateway's agent.
RUN apt-get update -q \
 && apt-get install -y -q --no-install-recommends ca-certificates keepalived libatomic1 nftables \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/*
RUN printf '#!/bin/sh\nexec /opt/causeway/runtime/node /opt/causeway/dist/cli/main.js "$@"\n' > /usr/local/bin/causeway \
 && chmod 755 /usr/local/bin/causeway
COPY --from=packages /causeway /opt/causeway
COPY --from=build /build/LICENSE /opt/causeway/
COPY --from=build /build/dist /opt/causeway/dist
ENV NODE_ENV=production
# Nobody. The proxy and the agent are told otherwise by whoever runs them. Nothing is written but to /tmp.
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/causeway"]
CMD ["--help"]
