// Package workertest is the suite that every Worker driver must pass against a fake of its cloud: through the contract runtime and a
// real API server. machine-controller-manager is replaced by a simulation, which turns MachineDeployments into machines of a cloud of
// its own, and which does what is dangerous as eagerly as it can: it acts before the controller hears of its own writes, removes servers
// that no Machine tells of, and lets objects without finalizers go.
//
// Run runs the scenarios and then explores (see package contracttest): every write to the API server and every call to the cloud goes
// wrong in every way. Each case must end in Succeeded or gone without anybody's help, with each machine and each thing that machines share
// there exactly once, none left behind, and none lost on the way.
//
// A driver's tests bring a Subject: the fake cloud and how to build the driver. The suite knows no cloud.
package workertest
