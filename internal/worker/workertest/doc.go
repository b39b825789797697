// Package workertest is the suite that every Worker driver must pass against a fake of its cloud: through the contract runtime and a real
// API server. machine-controller-manager is replaced by a simulation, which creates machines in a simulated cloud from MachineDeployments.
// It does everything dangerous as early as possible: it acts before the controller receives events of its own writes, removes servers
// without a Machine, and lets objects without finalizers disappear.
//
// Run runs the scenarios and then explores (see package contracttest): every write to the API server and every call to the cloud fails in
// every way. Each case must end in Succeeded or with a deleted object without help; each machine and each shared resource must exist
// exactly once, none may be left behind, and none may be replaced meanwhile.
//
// A driver's tests pass a Subject: the fake cloud and a constructor of the driver. The suite depends on no cloud.
package workertest
