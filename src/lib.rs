//! The page: declares `ui` (components) and `web` (the browser). Holds no logic of its own.
