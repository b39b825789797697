// Package stack brings a real OpenStack up on one machine, and down again: Keystone, Placement, Glance, Nova, Neutron,
// Cinder and Octavia of release Zed as Debian 12 packages them, with MariaDB, RabbitMQ and memcached behind them. All of
// them listen on loopback, as plain processes, with their state in one directory.
//
// Everything that a client can see is the stock code: APIs, validation, policy, quotas, address management, scheduling,
// state machines. Only the lowest layer of each service is replaced, since the machine needs neither a hypervisor nor a
// network of its own: Nova uses the fake driver that it comes with, and the files below python/ stand in for the network,
// the amphorae and the disks. Servers are objects that nothing runs in.
//
// The cloud starts with what a new fake.Cloud contains, so that one test can run against both.
//
// The package knows which packages, processes, files and content make up the cloud, and nothing of who uses it.
//
//	ports.go      who listens where
//	layout.go     what lies where below the state directory, and whether a directory is one
//	machine.go    what the cloud needs of the machine
//	packages.go   Debian packages
//	files.go      configuration and Python back ends, written from config/ and python/
//	daemons.go    the processes
//	kernel.go     what the kernel says of processes
//	process.go    starting, recognising and ending a process that outlives this one
//	database.go   databases and their schemas
//	client.go     HTTP to the cloud
//	identity.go   catalog, projects, users and roles
//	content.go    zones, flavors, images, networks
//	clouds.go     clouds.yaml
//	task.go       doing many things at once, each after what it needs
//	stack.go      the type Stack and its lock; up.go, down.go and status.go are what it does
package stack
