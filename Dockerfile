# Browser assets, at the versions package-lock.json pins.
FROM node:24-slim AS assets
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --silent --ignore-scripts

# The wheel, with templates, static files and migrations inside.
FROM python:3.13-slim AS wheel
WORKDIR /build
COPY .ci/requirements-build.lock ./
RUN pip install --no-cache-dir --require-hashes -r requirements-build.lock
COPY . .
COPY --from=assets /build/node_modules/htmx.org/dist/htmx.min.js static/vendor/htmx.min.js
RUN hatchling build -t wheel

FROM python:3.13-slim
COPY requirements.lock /tmp/requirements.lock
RUN pip install --no-cache-dir --require-hashes -r /tmp/requirements.lock
COPY --from=wheel /build/dist/*.whl /tmp/
RUN pip install --no-cache-dir --no-deps /tmp/*.whl && rm /tmp/*.whl /tmp/requirements.lock
RUN useradd --create-home --home-dir /var/lib/topkapi topkapi
USER topkapi
WORKDIR /var/lib/topkapi
ENV TOPKAPI_HOST=0.0.0.0
EXPOSE 8000
CMD ["topkapi", "serve"]
