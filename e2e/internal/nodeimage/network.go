package nodeimage

import (
	"context"
	"fmt"
	"strings"
)

// The network of pods is gardenet: its agent, and the program that prints its manifest.
const (
	networkAgent, agentPackage       = "gardenet-agent", "./cmd/gardenet-agent"
	networkRenderer, rendererPackage = "gardenet-manifest", "./internal/network/gardenet/manifest"
	networkImage                     = "localhost/gardenet-agent:local"
)

// anyRange stands in the rendered manifest where the ranges of pods belong, which are known when a cluster is created.
const anyRange = "192.0.2.0/24"

// podRanges is a template of kind's for the items of a JSON list, without the first and the last quotation mark: PodSubnet has one range, or two with
// a comma between them, and templates have no function that splits a text.
const podRanges = `{{range $i := len .PodSubnet}}{{with printf "%.1s" (slice $.PodSubnet $i)}}{{if eq . ","}}", "{{else}}{{.}}{{end}}{{end}}{{end}}`

// networkManifest returns the manifest of the pods' network as shoots have it. kind deploys it when it creates a cluster, and executes it as a template
// before that because of its first line.
func (b *build) networkManifest(ctx context.Context) ([]byte, error) {
	rendered, err := output(ctx, "", b.program(networkRenderer), "-image="+networkImage, "-pods="+anyRange)
	if err != nil {
		return nil, err
	}
	return asTemplate(rendered)
}

func asTemplate(manifest string) ([]byte, error) {
	if found := strings.Count(manifest, anyRange); found != 1 {
		return nil, fmt.Errorf("the manifest of the network has the range of pods %d times, and not once", found)
	}
	if strings.Contains(manifest, "{{") {
		return nil, fmt.Errorf("the manifest of the network would be changed as a template")
	}
	return []byte("# would you kindly template this file\n" + strings.Replace(manifest, anyRange, podRanges, 1) + "\n"), nil
}
