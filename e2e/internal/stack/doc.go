// Package stack starts and stops a real OpenStack on one machine: Keystone, Placement, Glance, Nova, Neutron, Cinder and Octavia of release Zed as
// Debian 12 packages them, with MariaDB, RabbitMQ and memcached. All listen on loopback, as ordinary processes, with their state in one
// directory.
//
// All that a client sees is the services' own code: APIs, validation, policy, quotas, address management, scheduling, state machines. Only the
// lowest layer of each service is replaced, so that the machine needs no hypervisor and no network of its own: Nova uses its fake driver, and
// the files in python/ replace the network, the amphorae and the disks. Servers are records without a running machine.
//
// The initial content is that of a new fake.Cloud, so that one test can run against both.
//
// The package knows the packages, processes, files and content of the cloud. It must not depend on the clients.
//
//	ports.go      ports and their processes
//	layout.go     paths in the state directory, and its recognition
//	machine.go    requirements of the machine
//	packages.go   Debian packages
//	files.go      configuration and Python back ends, from config/ and python/
//	daemons.go    the processes
//	kernel.go     processes as the kernel lists them
//	process.go    starting, recognizing and ending processes that outlive this one
//	database.go   databases and their schemas
//	client.go     HTTP requests to the cloud
//	identity.go   catalog, projects, users and roles
//	content.go    zones, flavors, images, networks
//	clouds.go     clouds.yaml
//	standins.go   what is not real
//	task.go       concurrent tasks with dependencies
//	stack.go      the type Stack and its lock; up.go, down.go and status.go have its methods
package stack
