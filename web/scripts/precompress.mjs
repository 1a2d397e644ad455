// placeholder until the service worker is written
