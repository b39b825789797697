package charts

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

const networkAnnotation = "networking.resources.gardener.cloud/"

// portsIn returns the ports in an annotation of network policies.
func portsIn(t *testing.T, annotation string) []int32 {
	t.Helper()
	var ports []struct {
		Port int32 `json:"port"`
	}
	if annotation != "" {
		require.NoError(t, json.Unmarshal([]byte(annotation), &ports))
	}
	var numbers []int32
	for _, port := range ports {
		numbers = append(numbers, port.Port)
	}
	return numbers
}

// API servers of shoots reach one port, which serves nothing but webhooks of shoots: neither the seed's webhooks nor metrics nor health.
func TestShootWebhooks(t *testing.T) {
	for sentence, test := range map[string]struct {
		types []string
		more  map[string]any
		// port is what the API servers of shoots reach, 0 for nothing.
		port int32
	}{
		"a type with webhooks of shoots": {[]string{"aws"}, nil, 10251},
		"among other types":              {[]string{"openstack", "aws"}, nil, 10251},
		"in the network of the node":     {[]string{"aws"}, map[string]any{"usablePorts": []int{41001, 41002, 41003, 41004, 41005}}, 41004},
		"a type without":                 {[]string{"openstack"}, nil, 0},
		"a secondary":                    {[]string{"openstack"}, map[string]any{"role": "secondary"}, 0},
		"a type without, and few ports":  {[]string{"openstack"}, map[string]any{"usablePorts": []int{41001, 41002, 41003}}, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			values := seedValues()
			maps.Copy(values, test.more)
			values["types"] = test.types
			objects, err := Render(archiveOf(t, "controlplane-controller"), releaseOf("controlplane-controller"), values)
			require.NoError(t, err)
			service := &corev1.Service{}
			into(t, only(t, objects, "Service"), service)
			selectors := service.Annotations[networkAnnotation+"namespace-selectors"]
			container := deploymentOf(t, "controlplane-controller", values).Spec.Template.Spec.Containers[0]
			listens := slices.ContainsFunc(container.Args, func(arg string) bool { return strings.HasPrefix(arg, "--webhook-config-shoot-") })
			reached := portsIn(t, service.Annotations[networkAnnotation+"from-all-webhook-targets-allowed-ports"])
			if test.port == 0 {
				assert.Empty(t, reached)
				assert.NotContains(t, selectors, "shoot")
				assert.False(t, listens)
				return
			}
			assert.Equal(t, []int32{test.port}, reached)
			assert.Contains(t, selectors, `{"gardener.cloud/role":"shoot"}`)
			assert.True(t, listens)
			assert.NotContains(t, portsIn(t, service.Annotations[networkAnnotation+"from-world-to-ports"]), test.port, "the world does not reach it")
			for _, port := range service.Spec.Ports {
				assert.Equal(t, port.Name == "shoot-webhooks", port.TargetPort.IntVal == test.port, port.Name)
			}
			for _, port := range container.Ports {
				assert.Equal(t, port.Name == "shoot-webhooks", port.ContainerPort == test.port, port.Name)
			}
		})
	}
}
