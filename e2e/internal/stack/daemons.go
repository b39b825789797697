package stack

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"strconv"
	"time"
)

// daemon is a process of the cloud.
type daemon struct {
	name        string
	command     []string
	environment []string
	// ready reports whether the daemon serves requests; nil if no task waits for it.
	ready func(ctx context.Context) bool
}

// The daemons in the order in which they are started: databases and queues, Keystone, the services, and the hypervisors. Those of a group are
// started together.

func (l layout) stores() []daemon {
	return []daemon{
		{
			name:    "mariadb",
			command: []string{"/usr/sbin/mariadbd", "--defaults-file=" + l.config("mariadb.cnf")},
			ready: func(ctx context.Context) bool {
				return exec.CommandContext(ctx, "/usr/bin/mariadb-admin", "--no-defaults", "--socket="+l.socket(), "--user=root", "ping").Run() == nil
			},
		},
		{
			name:    "epmd",
			command: []string{"/usr/bin/epmd", "-address", IP, "-port", strconv.Itoa(portOf("epmd"))},
			ready:   l.listening("epmd"),
		},
		{
			name:    "rabbitmq",
			command: []string{"/usr/lib/rabbitmq/bin/rabbitmq-server"},
			environment: []string{
				"RABBITMQ_NODENAME=trellis@localhost",
				"RABBITMQ_CONF_ENV_FILE=/dev/null",
				"RABBITMQ_CONFIG_FILE=" + l.config("rabbitmq/rabbitmq.conf"),
				"RABBITMQ_ENABLED_PLUGINS_FILE=" + l.config("rabbitmq/enabled_plugins"),
				"RABBITMQ_MNESIA_BASE=" + l.data() + "/rabbitmq",
				"RABBITMQ_LOG_BASE=" + l.logs(),
				"RABBITMQ_DIST_PORT=" + strconv.Itoa(portOf("rabbitmq-cluster")),
				"ERL_EPMD_ADDRESS=" + IP,
				"ERL_EPMD_PORT=" + strconv.Itoa(portOf("epmd")),
				// Two schedulers that do not spin when idle, and no port that is open to other machines.
				"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none -kernel inet_dist_use_interface {127,0,0,1}",
			},
			ready: l.listening("rabbitmq"),
		},
		{
			name:    "memcached",
			command: []string{"/usr/bin/memcached", "-u", "root", "-l", IP, "-p", strconv.Itoa(portOf("memcached")), "-U", "0", "-m", "64", "-t", "2", "-c", "2048"},
			ready:   l.listening("memcached"),
		},
	}
}

func (l layout) keystone() daemon {
	return l.uwsgi("keystone", "/usr/bin/keystone-wsgi-public", 2, 1, "OS_KEYSTONE_CONFIG_FILES="+l.config("keystone/keystone.conf"))
}

func (l layout) services() []daemon {
	nova, cinder := l.novaConfig(), []string{"--config-file", l.config("cinder/cinder.conf")}
	return []daemon{
		l.uwsgi("placement", "/usr/bin/placement-api", 1, 4, "OS_PLACEMENT_CONFIG_DIR="+l.config("placement")),
		l.uwsgi("nova-api", "/usr/bin/nova-api-wsgi", 2, 1, "OS_NOVA_CONFIG_DIR="+l.config("nova"),
			"OS_NOVA_CONFIG_FILES=/usr/share/nova-common/api-paste.ini;nova.conf;databases.conf"),
		l.python3("nova-conductor", "nova.cmd.conductor", nova...),
		l.python3("nova-scheduler", "nova.cmd.scheduler", nova...),
		// Neutron's own server: under uwsgi its green threads and the system's threads block each other.
		{
			name:    "neutron",
			command: []string{"/usr/bin/python3", l.python() + "/trellis_neutron_server.py", "--config-file", l.config("neutron/neutron.conf")},
			ready:   l.answering("neutron"),
		},
		l.python3("glance", "glance.cmd.api", "--config-file", l.config("glance/glance-api.conf")),
		l.uwsgi("cinder-api", "/usr/bin/cinder-wsgi", 1, 1).with("--pyargv=--config-file=" + l.config("cinder/cinder.conf")),
		l.python3("cinder-scheduler", "cinder.cmd.scheduler", cinder...),
		l.python3("cinder-volume", "cinder.cmd.volume", cinder...),
		// One process, since one of its threads simulates the amphorae.
		l.uwsgi("octavia", l.python()+"/trellis_octavia.py", 1, 4, "OCTAVIA_CONFIG_FILE="+l.config("octavia/octavia.conf")),
	}
}

// hypervisors returns one for each zone.
func (l layout) hypervisors() []daemon {
	var all []daemon
	for _, zone := range Zones() {
		d := l.python3("nova-compute-"+zone, "nova.cmd.compute", "--config-file", l.config("nova/nova.conf"))
		d.environment = append(d.environment, "OS_DEFAULT__HOST="+hostOf(zone))
		all = append(all, d)
	}
	return all
}

func (l layout) daemons() []daemon {
	all := append(l.stores(), l.keystone())
	all = append(all, l.services()...)
	return append(all, l.hypervisors()...)
}

func hostOf(zone string) string { return "host-" + zone }

func (l layout) novaConfig() []string {
	return []string{"--config-file", l.config("nova/nova.conf"), "--config-file", l.config("nova/databases.conf")}
}

// python3 is a daemon whose script is in a package that depends on a hypervisor or a storage server, but whose code is in another package.
func (l layout) python3(name, module string, arguments ...string) daemon {
	script := fmt.Sprintf("import sys; sys.argv[0] = %q; from %s import main; sys.exit(main())", name, module)
	d := daemon{name: name, command: append([]string{"/usr/bin/python3", "-c", script}, arguments...)}
	if portOf(name) != 0 {
		d.ready = l.answering(name)
	}
	return d
}

func (l layout) uwsgi(name, script string, processes, threads int, environment ...string) daemon {
	return daemon{
		name: name,
		command: []string{
			"/usr/bin/uwsgi", "--ini", l.config("uwsgi.ini"), "--http-socket", addressOf(name), "--wsgi-file", script,
			"--processes", strconv.Itoa(processes), "--threads", strconv.Itoa(threads),
		},
		environment: environment,
		ready:       l.answering(name),
	}
}

// with adds arguments to the command.
func (d daemon) with(arguments ...string) daemon {
	d.command = append(d.command, arguments...)
	return d
}

func (l layout) listening(name string) func(context.Context) bool {
	return func(context.Context) bool { return listens(addressOf(name)) }
}

func (l layout) answering(name string) func(context.Context) bool {
	return func(ctx context.Context) bool {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, urlOf(name)+"/", nil)
		if err != nil {
			return false
		}
		response, err := direct().Do(request)
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode < http.StatusInternalServerError
	}
}

// startTimeout bounds how long a daemon takes to become ready.
const startTimeout = 5 * time.Minute

// startAndWait starts a daemon that is not running, and waits until it is ready. It fails if the daemon ends.
func (l layout) startAndWait(ctx context.Context, d daemon) error {
	if err := l.start(d); err != nil {
		return err
	}
	for deadline := time.Now().Add(startTimeout); ; {
		if d.ready == nil || d.ready(ctx) {
			return nil
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !l.isRunning(d.name):
			return fmt.Errorf("%s has ended by itself%s", d.name, lastLines(l.log(d.name)))
		case time.Now().After(deadline):
			return fmt.Errorf("%s does not serve after %s%s", d.name, startTimeout, lastLines(l.log(d.name)))
		}
		if err := pause(ctx, processPollInterval); err != nil {
			return err
		}
	}
}
