package seeds

import (
	"context"
	"fmt"

	"k8s.io/client-go/rest"
)

// InCluster returns the access of a process that runs in a seed and serves only that one. It does not connect yet. client-go rereads files that the
// configuration names, such as the token of a pod.
func InCluster(seed string, config *rest.Config, options Options) (*Connections, error) {
	return newConnections(&inCluster{seed: seed, config: config}, options.withDefaults())
}

// inCluster is the source for the one seed.
type inCluster struct {
	seed   string
	config *rest.Config
}

// credentials implements source.
func (o *inCluster) credentials(_ context.Context, seed string, previous *credentials) (*credentials, error) {
	switch {
	case seed != o.seed:
		return nil, &noAccessError{fmt.Sprintf("this process serves seed %s alone", o.seed)}
	case previous != nil:
		return previous, nil
	}
	return &credentials{source: "this process", config: o.config}, nil
}
