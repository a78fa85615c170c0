# One image for every job; the command says which:
#
#   docker build -t causeway:0.1.0 .
#   docker run --rm causeway:0.1.0 --help
#
# Node itself comes from the lock file (the package node-linux-*), so both stages need no image but
# Debian's and, to install packages with, any npm.

ARG BUILD_IMAGE=node:26-trixie-slim
ARG RUNTIME_IMAGE=debian:trixie-slim

FROM ${BUILD_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error
COPY . .
RUN PATH="/build/node_modules/.bin:$PATH" ./node_modules/node-linux-*/bin/node scripts/build.ts
# What runs: compiled files and what they import. npm install knows what is needed for production.
RUN mkdir /causeway \
 && cp -a package.json package-lock.json .npmrc LICENSE bin dist /causeway/ \
 && mkdir /causeway/scripts && cp scripts/launch.js /causeway/scripts/ \
 && cd /causeway \
 && npm install --no-save --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error \
 && mkdir runtime && mv node_modules/node-linux-*/bin/node runtime/node \
 && rm -rf node_modules/node-linux-* package-lock.json .npmrc

FROM ${RUNTIME_IMAGE}
# nft: what the kernel's rules of others are read with. keepalived: for the gateway's agent.
RUN apt-get update -q \
 && apt-get install -y -q --no-install-recommends ca-certificates keepalived nftables \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/*
COPY --from=build /causeway /opt/causeway
RUN printf '#!/bin/sh\nexec /opt/causeway/runtime/node /opt/causeway/dist/cli/main.js "$@"\n' > /usr/local/bin/causeway \
 && chmod 755 /usr/local/bin/causeway
ENV NODE_ENV=production
# Nobody. The proxy and the agent are told otherwise by whoever runs them. Nothing is written but to /tmp.
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/causeway"]
CMD ["--help"]
