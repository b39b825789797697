package aws

import (
	"bytes"
	"regexp"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
)

// Expressions for texts in a providerConfig. Upstream cuts the virtual capacity out of the text, since it was added when nodes existed already: it must not
// replace them. What remains of the text is an input of their hash, so each character counts, also where the result is not JSON any more.
const (
	virtualCapacity = `"virtualCapacity"\s*:\s*\{[^{}]*\}`
	// onlyVirtualCapacity is a nodeTemplate with nothing else, and a comma behind it.
	onlyVirtualCapacity = `"nodeTemplate"\s*:\s*\{\s*` + virtualCapacity + `\s*\}\s*,?`
	// lastVirtualCapacity follows the capacity, as it does in what the API server returns: in the order of names.
	lastVirtualCapacity = `,\s*` + virtualCapacity + `\s*`
	// commaAtEnd is what may remain before a closing brace.
	commaAtEnd = `,\s*\}`
)

// rawConfig returns the part of the bytes of a providerConfig that is an input of the hash, nil if there is none.
func rawConfig(pool *extensionsv1alpha1.WorkerPool, config *awsv1alpha1.WorkerConfig) []byte {
	if pool.ProviderConfig == nil {
		return nil
	}
	raw := pool.ProviderConfig.Raw
	if config.NodeTemplate == nil || config.NodeTemplate.VirtualCapacity == nil {
		return raw
	}
	for _, cut := range []struct{ expression, remains string }{{onlyVirtualCapacity, ""}, {lastVirtualCapacity, ""}, {commaAtEnd, "}"}} {
		raw = regexp.MustCompile(cut.expression).ReplaceAll(raw, []byte(cut.remains))
	}
	return bytes.TrimSpace(raw)
}
