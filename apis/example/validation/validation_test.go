package validation_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/example/v1alpha1"
	"github.com/trellis-garden/trellis/apis/example/validation"
)

// requireError requires an error whose text contains one, and none if it is empty.
func requireError(t *testing.T, errs field.ErrorList, want string) {
	t.Helper()
	if want == "" {
		require.Empty(t, errs)
		return
	}
	require.ErrorContains(t, errs.ToAggregate(), want)
}

func TestValidateCloudProfileConfig(t *testing.T) {
	for address, want := range map[string]string{
		"https://cloud.example.org":    "",
		"http://127.0.0.1:8080":        "",
		"":                             "config.url: Required value: give the address",
		"cloud.example.org":            "config.url: Invalid value",
		"ftp://cloud.example.org":      "config.url: Invalid value",
		"https://cloud.example.org:\n": "config.url: Invalid value",
	} {
		t.Run(address, func(t *testing.T) {
			requireError(t, validation.ValidateCloudProfileConfig(&v1alpha1.CloudProfileConfig{URL: address}, field.NewPath("config")), want)
		})
	}
}

func infrastructure(workers string) *v1alpha1.InfrastructureConfig {
	return &v1alpha1.InfrastructureConfig{Networks: v1alpha1.Networks{Workers: workers}}
}

func TestValidateInfrastructureConfig(t *testing.T) {
	for workers, want := range map[string]string{
		"10.250.0.0/16":       "",
		"":                    "config.networks.workers: Required value: give the range",
		"10.250.0.0":          "give an IPv4 range",
		"10.250.1.1/16":       "write 10.250.0.0/16",
		"2001:db8::/64":       "give an IPv4 range",
		"::ffff:10.0.0.0/112": "give an IPv4 range",
	} {
		t.Run(workers, func(t *testing.T) {
			requireError(t, validation.ValidateInfrastructureConfig(infrastructure(workers), field.NewPath("config")), want)
		})
	}
}

func TestValidateInfrastructureConfigUpdate(t *testing.T) {
	path := field.NewPath("config")
	requireError(t, validation.ValidateInfrastructureConfigUpdate(infrastructure("10.250.0.0/16"), infrastructure("10.250.0.0/16"), path), "")
	requireError(t, validation.ValidateInfrastructureConfigUpdate(infrastructure("10.250.0.0/16"), infrastructure("10.0.0.0/16"), path),
		"config.networks.workers: Forbidden: the range of nodes cannot be changed: set it to 10.250.0.0/16")
}

func TestValidateMachineProviderSpec(t *testing.T) {
	valid := v1alpha1.MachineProviderSpec{Owner: "uid", Zone: "zone", Network: "network", MachineType: "small", Image: "linux-1.0.0"}
	for name, change := range map[string]func(*v1alpha1.MachineProviderSpec){
		"":            func(*v1alpha1.MachineProviderSpec) {},
		"owner":       func(spec *v1alpha1.MachineProviderSpec) { spec.Owner = "" },
		"zone":        func(spec *v1alpha1.MachineProviderSpec) { spec.Zone = "" },
		"network":     func(spec *v1alpha1.MachineProviderSpec) { spec.Network = "" },
		"machineType": func(spec *v1alpha1.MachineProviderSpec) { spec.MachineType = "" },
		"image":       func(spec *v1alpha1.MachineProviderSpec) { spec.Image = "" },
	} {
		t.Run(name, func(t *testing.T) {
			spec, want := valid, ""
			change(&spec)
			if name != "" {
				want = "spec." + name + ": Required value: give the"
			}
			requireError(t, validation.ValidateMachineProviderSpec(&spec, field.NewPath("spec")), want)
		})
	}
}
