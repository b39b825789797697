package admission

import "testing"

// part is about one promise. It finds the garden as the one before has left it.
type part struct {
	name string
	play func(*testing.T, *world)
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
		{"Registrations", testRegistrations},
		{"Defaults", testDefaults},
		{"Configurations", testConfigurations},
		{"Examples", testExamples},
	}
}

// TestAdmission has one garden for all parts: a process starts no second one.
func TestAdmission(t *testing.T) {
	w := newWorld(t)
	w.grantRights(t)
	violators := storeViolators(t, w)
	running := w.start(t)
	w.extendProfile(t)
	for _, part := range parts() {
		t.Run(part.name, func(t *testing.T) { part.play(t, w) })
	}
	t.Run("Violators", func(t *testing.T) { testViolators(t, w, violators) })
	t.Run("OldObjects", func(t *testing.T) { testOldObjects(t, w) })
	t.Run("Outage", func(t *testing.T) { testOutage(t, w, running) })
}
