package network

import "github.com/trellis-garden/trellis/apis/networking"

// Infrastructure is what the network of a cloud allows machines to do, as far as plugins must know. The table is in apis, since admission needs it, too.
type Infrastructure = networking.Infrastructure
