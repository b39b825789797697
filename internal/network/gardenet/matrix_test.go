package gardenet

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/gardenet/config"
	"github.com/trellis-garden/trellis/internal/golden"
	"github.com/trellis-garden/trellis/internal/network"
)

// matrixCase is a shoot and a sentence that describes it.
type matrixCase struct {
	sentence string
	shoot    *network.Shoot
}

// matrix returns shoots with the defaults and with each setting alone, then all combinations of infrastructure, overlay and families.
func matrix(t *testing.T) []matrixCase {
	t.Helper()
	var cases []matrixCase
	for _, setting := range []string{
		"", "mtu: 1400", "masquerade: {enabled: false}", "masquerade: {nonMasqueradeCIDRs: [172.16.0.0/12, 192.168.0.0/16]}",
		"snatToUpstreamDNS: {enabled: false}", "{masquerade: {enabled: false}, snatToUpstreamDNS: {enabled: false}}", "networkPolicy: {enabled: false}",
		"networkPolicy: {established: keep}", "hostPorts: {enabled: false}", "bandwidth: {enabled: false}", "logging: {deniedPackets: {enabled: true}}", "overlay: {vxlan: {port: 4790, id: 7}}",
		"overlay: {enabled: true, vxlan: {port: 4790, id: 7}}", "resources: {node: {requests: {memory: 300Mi}}}", "resources: {node: {limits: {cpu: 1, memory: 1Gi}}}",
		"overlay: {enabled: true, createPodRoutes: true}", "gardenetCustomConfigField: value", "ipam: {type: host-local, cidr: usePodCIDR}",
	} {
		cases = append(cases, matrixCase{"{" + setting + "}", shootOn(t, "aws", setting)})
	}
	cases = append(cases,
		matrixCase{"no vertical pod autoscaler", shootOn(t, "aws", "", withoutVPA)},
		matrixCase{"Services without kube-proxy", shootOn(t, "aws", routing, withoutKubeProxy)},
		matrixCase{"Services without kube-proxy, no vertical pod autoscaler", shootOn(t, "aws", routing, withoutKubeProxy, withoutVPA)},
		matrixCase{"Services without kube-proxy, [IPv6 IPv4]", shootOn(t, "aws", routing, withFamilies(ipv6, ipv4), withoutKubeProxy)},
		matrixCase{"Services besides kube-proxy", shootOn(t, "aws", routing)},
	)
	for _, infrastructure := range []string{"aws", "azure", "local", "openstack", "ironcore"} {
		for _, overlay := range []string{"unset", "{enabled: true}", "{enabled: false}", "{enabled: false, createPodRoutes: true}", "{enabled: false, createPodRoutes: false}"} {
			for _, families := range [][]extensionsv1alpha1.IPFamily{{ipv4}, {ipv6}, {ipv4, ipv6}, {ipv6, ipv4}} {
				configured := ""
				if overlay != "unset" {
					configured = "overlay: " + overlay
				}
				cases = append(cases, matrixCase{
					fmt.Sprintf("%s: overlay %s, %v", infrastructure, overlay, families), shootOn(t, infrastructure, configured, withFamilies(families...)),
				})
			}
		}
	}
	return cases
}

// TestMatrix renders what users can combine. testdata/matrix/cases.yaml lists the manifest of each shoot; shoots with the same objects share one. The first is whole,
// the others are diffs against the nearest before them.
func TestMatrix(t *testing.T) {
	manifests := golden.Open(t, "testdata/matrix/manifests")
	cases := &strings.Builder{}
	files, seen := map[string]string{}, map[string]bool{}
	for _, each := range matrix(t) {
		require.False(t, seen[each.sentence], each.sentence)
		seen[each.sentence] = true
		if errs := New().Validate(each.shoot); len(errs) > 0 {
			fmt.Fprintf(cases, "%q: {refused: %q}\n", each.sentence, errs.ToAggregate().Error())
			continue
		}
		rendering, err := New().Render(each.shoot)
		require.NoError(t, err, each.sentence)
		text := golden.Manifest(t, rendering.Shoot)
		if files[text] == "" {
			if name := fileName(each.sentence); len(files) == 0 {
				files[text] = "default.yaml"
				manifests.Check(t, files[text], text)
			} else {
				files[text] = name + ".diff"
				manifests.CheckNearest(t, files[text], text)
			}
		}
		fmt.Fprintf(cases, "%q: {manifest: %s%s}\n", each.sentence, files[text], messagesOf(t, rendering))
	}
	golden.Check(t, "testdata/matrix/cases.yaml", cases.String())
}

func messagesOf(t *testing.T, rendering *network.Rendering) string {
	t.Helper()
	if len(rendering.Messages) == 0 {
		return ""
	}
	text, err := json.Marshal(rendering.Messages)
	require.NoError(t, err)
	return ", messages: " + string(text)
}

// fileName returns a sentence as the name of a file.
func fileName(sentence string) string {
	return strings.Trim(regexp.MustCompile(`[^a-z0-9.]+`).ReplaceAllString(strings.ToLower(sentence), "-"), "-")
}

// Agents can read every configuration, and the name of its ConfigMap changes with it and with nothing else.
func TestMatrix_Documents(t *testing.T) {
	names := map[string]string{}
	for _, each := range matrix(t) {
		if len(New().Validate(each.shoot)) > 0 {
			continue
		}
		s := decided(t, each.shoot)
		rendering, err := s.render()
		require.NoError(t, err)
		document := find[*corev1.ConfigMap](t, rendering.Shoot)
		content := document.Data[config.FileName]
		_, err = config.Decode([]byte(content))
		require.NoError(t, err, each.sentence)
		if known, ok := names[document.Name]; ok {
			require.Equal(t, known, content, each.sentence)
		}
		names[document.Name] = content
	}
	contents := map[string]bool{}
	for _, content := range names {
		contents[content] = true
	}
	require.Len(t, contents, len(names))
}

// find returns the object of a type, of which there is one.
func find[Object client.Object](t *testing.T, objects []client.Object) Object {
	t.Helper()
	var found []Object
	for _, object := range objects {
		if typed, ok := object.(Object); ok {
			found = append(found, typed)
		}
	}
	require.Len(t, found, 1)
	return found[0]
}
