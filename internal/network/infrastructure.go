package network

import "github.com/trellis-garden/trellis/apis/networking"

// Infrastructure is what the network of a cloud lets machines do, as far as plugins have to know. The table is in apis, since
// admission needs it, too.
type Infrastructure = networking.Infrastructure
