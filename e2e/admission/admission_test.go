package admission

import "testing"

// part is a group of related cases. It starts with the garden's state after the previous part.
type part struct {
	name string
	run  func(*testing.T, *environment)
}

func parts() []part {
	return []part{
		{"Infrastructures", testInfrastructures},
		{"ControlPlanes", testControlPlanes},
		{"Workers", testWorkers},
		{"Networks", testNetworks},
		{"Others", testOthers},
		{"Updates", testUpdates},
		{"CloudProfiles", testCloudProfiles},
		{"NamespacedCloudProfiles", testNamespacedCloudProfiles},
		{"Secrets", testSecrets},
		{"Bindings", testBindings},
		{"AWS", testAWS},
		{"Registrations", testRegistrations},
		{"Defaults", testDefaults},
		{"Configurations", testConfigurations},
		{"Examples", testExamples},
	}
}

// TestAdmission uses one garden for all parts: a process can start only one.
func TestAdmission(t *testing.T) {
	env := newEnvironment(t)
	env.grantRights(t)
	violators := storeInvalidShoots(t, env)
	running := env.start(t)
	env.extendProfile(t)
	for _, part := range parts() {
		t.Run(part.name, func(t *testing.T) { part.run(t, env) })
	}
	t.Run("Violators", func(t *testing.T) { testInvalidShoots(t, env, violators) })
	t.Run("OldObjects", func(t *testing.T) { testOldObjects(t, env) })
	t.Run("Outage", func(t *testing.T) { testOutage(t, env, running) })
}
