package main

import "basalt/api/bench/peers"

// published are figures of others, of their own machines, each with where it stands. They are shown apart.
var published []peers.Published
