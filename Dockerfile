# One image for every job; the command says which:
#
#   docker build -t causeway:0.1.0 .
#   docker run --rm causeway:0.1.0 --help
#
# Node itself comes from the lock file (the package node-linux-*), so both stages need no image but
# Debian's and, to install packages with, any npm.

ARG BUILD_IMAGE=node:26-trixie-slim
ARG RUNTIME_IMAGE=debian:trixie-slim

# What runs beside our own files: production packages, and the pinned Node. Nobody debugs either in a
# container: the symbols, and what packages have for readers and compilers, stay behind.
FROM ${BUILD_IMAGE} AS packages
RUN apt-get update -q && apt-get install -y -q --no-install-recommends binutils
WORKDIR /causeway
COPY package.json package-lock.json .npmrc ./
COPY packages packages
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error \
 && mkdir runtime && mv node_modules/node-linux-*/bin/node node_modules/node-linux-*/LICENSE runtime/ \
 && strip runtime/node \
 && rm -rf node_modules/node-linux-* node_modules/@causeway packages package-lock.json .npmrc \
 && find node_modules -type f -regextype posix-extended -regex '.*\.([cm]?ts|md|map)' \
      ! -iname 'licen[cs]e*' ! -iname 'readme*' -delete

FROM ${BUILD_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY packages packages
RUN npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
COPY . .
RUN PATH="/build/node_modules/.bin:$PATH" ./node_modules/node-linux-*/bin/node scripts/build.ts

FROM ${RUNTIME_IMAGE}
# libatomic1: the pinned Node needs it. nft: what the kernel's rules of others are read with.
# keepalived: for the gateway's agent. It is linked with SNMP's library and that with Perl's, whose
# modules nobody loads: more than half of all that these packages bring.
RUN apt-get update -q \
 && apt-get install -y -q --no-install-recommends ca-certificates keepalived libatomic1 nftables \
 && find /usr/share/doc -type f ! -name copyright -delete \
 && rm -rf /usr/share/perl /usr/lib/*/perl /usr/share/man/* /usr/share/locale/* /usr/share/lintian \
      /var/lib/apt/lists/* /var/cache/apt /var/cache/debconf/*-old /var/lib/dpkg/*-old /var/log/*
RUN printf '#!/bin/sh\nexec /opt/causeway/runtime/node /opt/causeway/dist/causeway/src/cli/main.js "$@"\n' > /usr/local/bin/causeway \
 && chmod 755 /usr/local/bin/causeway
COPY --from=packages /causeway /opt/causeway
COPY --from=build /build/LICENSE /opt/causeway/
COPY --from=build /build/dist /opt/causeway/dist
ENV NODE_ENV=production
# Nobody. The proxy and the agent are told otherwise by whoever runs them. Nothing is written but to /tmp.
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/causeway"]
CMD ["--help"]
