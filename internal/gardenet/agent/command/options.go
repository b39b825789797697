package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/trellis-garden/trellis/internal/gardenet/agent/plugins"
	"github.com/trellis-garden/trellis/internal/gardenet/config"
	"github.com/trellis-garden/trellis/internal/logging"
)

// installPlugins is the command that copies CNI plugins.
const installPlugins = "install-plugins"

// options are the parsed command line.
type options struct {
	help, version, listMetrics bool

	node, config, kubeconfig string
	kernel                   KernelOptions
	bindAddress              string

	// install is true for the command install-plugins. from and to are its folders.
	install  bool
	from, to string

	logLevel, logFormat string
}

// section is a group of flags under one heading of --help.
type section struct {
	title string
	flags []setting
}

// parse parses the arguments. The options are returned with an error too, so that --help works in any case.
func parse(args []string, env environment) (options, error) {
	o := defaults(env)
	sections := o.sections
	if len(args) > 0 && args[0] == installPlugins {
		o.install, args, sections = true, args[1:], o.installSections
	}
	var settings []setting
	for _, s := range sections() {
		settings = append(settings, s.flags...)
	}
	problems := parseFlags(settings, args)
	if !o.install && o.node == "" {
		problems = append(problems, "--node: required; set it, or $NODE_NAME, to the name of the Node (spec.nodeName of the pod)")
	}
	if len(problems) > 0 {
		return *o, errors.New("wrong command line:\n  " + strings.Join(problems, "\n  "))
	}
	return *o, nil
}

func defaults(env environment) *options {
	return &options{
		node:        env.node,
		config:      "/etc/gardenet/" + config.FileName,
		kernel:      KernelOptions{HostRoot: "/", NFT: "nft"},
		bindAddress: ":19081",
		from:        "/opt/cni/bin",
		to:          "/host/opt/cni/bin",
		logLevel:    logging.Info,
		logFormat:   logging.JSON,
	}
}

func (o *options) sections() []section {
	return []section{
		{"Node", []setting{
			{name: "node", value: "NAME", usage: "Name of the Node that the agent runs on.", defaults: "$NODE_NAME", parse: text(&o.node)},
			{name: "config", value: "FILE", usage: "Configuration of the shoot's network, as the network controller writes it. It is read once.", defaults: o.config, parse: text(&o.config)},
			{name: "host-root", value: "FOLDER", usage: "Where the node's file system is mounted: etc/cni/net.d for the CNI configuration, proc/sys, and folders of programs, which the agent looks for.", defaults: o.kernel.HostRoot, parse: text(&o.kernel.HostRoot)},
			{name: "nft", value: "FILE", usage: "Program nft, by its name in $PATH or by its path.", defaults: o.kernel.NFT, parse: text(&o.kernel.NFT)},
		}},
		{"API server", []setting{
			{name: "kubeconfig", value: "FILE", usage: "Kubeconfig of the shoot. Without it, the agent uses the ServiceAccount of its pod.", parse: text(&o.kubeconfig)},
		}},
		{"Process", append([]setting{
			{name: "bind-address", value: "ADDRESS", usage: "Where /metrics, /healthz and /readyz are served.", defaults: o.bindAddress, parse: address(&o.bindAddress)},
		}, o.logFlags()...)},
		{"Commands", []setting{
			o.helpFlag(),
			{name: "version", usage: "Print version, commit and date.", parse: boolean(&o.version)},
			{name: "list-metrics", usage: "Print the agent's own metrics as JSON: name, type, labels and help.", parse: boolean(&o.listMetrics)},
		}},
	}
}

func (o *options) installSections() []section {
	return []section{
		{"Folders", []setting{
			{name: "from", value: "FOLDER", usage: "Where the plugins are.", defaults: o.from, parse: text(&o.from)},
			{name: "to", value: "FOLDER", usage: "Where the node's container runtime looks for them.", defaults: o.to, parse: text(&o.to)},
		}},
		{"Process", append(o.logFlags(), o.helpFlag())},
	}
}

func (o *options) helpFlag() setting {
	return setting{name: "help", short: "h", usage: "Print this page.", parse: boolean(&o.help)}
}

func (o *options) logFlags() []setting {
	return []setting{
		{name: "log-level", value: "LEVEL", usage: "What is logged. Debug also shows what changes nothing.", allowed: strings.Join(logging.Levels(), ", "), defaults: o.logLevel, parse: oneOf(&o.logLevel, logging.Levels()...)},
		{name: "log-format", value: "FORMAT", usage: "How it is logged.", allowed: strings.Join(logging.Formats(), ", "), defaults: o.logFormat, parse: oneOf(&o.logFormat, logging.Formats()...)},
	}
}

// helpText returns the output of --help. Defaults are those of a process outside a pod.
func helpText(b Binary, install bool) string {
	o := defaults(environment{})
	var page strings.Builder
	sections := o.sections()
	if install {
		sections = o.installSections()
		fmt.Fprintf(&page, "Copies the CNI plugins %s to the node, if they differ.\n\nUsage:\n  %s %s [flags]\n", strings.Join(plugins.Names(), ", "), b.Name, installPlugins)
	} else {
		fmt.Fprintf(&page, "%s\n\nUsage:\n  %s [flags]\n  %[2]s %s [flags]\n\n", b.Description, b.Name, installPlugins)
		fmt.Fprintf(&page, "The command %s copies CNI plugins to the node; see %s %[1]s --help.\n", installPlugins, b.Name)
	}
	for _, section := range sections {
		fmt.Fprintf(&page, "\n%s:\n", section.title)
		for _, s := range section.flags {
			page.WriteString(s.help())
		}
	}
	return page.String()
}
