// The page of a server: it asks that server.

import { start } from "./app.js";
import { server } from "./server.js";

start(server);
