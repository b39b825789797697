package accept

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	felixconfig "github.com/projectcalico/calico/felix/config"
	typhaconfig "github.com/projectcalico/calico/typha/pkg/config"
	"github.com/sirupsen/logrus"
)

// parser is a component that reads its parameters from the environment by Calico's common scheme: unknown ones are ignored, and invalid ones are
// replaced by the default. Only its log reports that.
type parser struct {
	component, prefix string
	// parse returns what the component makes of some parameters: the configuration (a pointer to a struct with a field for each
	// known parameter) and the parameters that it read, by their real names when it knows them.
	parse func(environ []string) (config any, read map[string]string, err error)
	// validate looks at all parameters together.
	validate func(config any) error
}

func felixParser() parser {
	return parser{
		component: componentFelix, prefix: "FELIX_",
		parse: func(environ []string) (any, map[string]string, error) {
			config := felixconfig.New()
			_, err := config.UpdateFrom(felixconfig.LoadConfigFromEnvironment(environ), felixconfig.EnvironmentVariable)
			return config, config.RawValues(), err
		},
		validate: func(config any) error {
			felix, ok := config.(*felixconfig.Config)
			if !ok {
				return fmt.Errorf("%T is not Felix' configuration", config)
			}
			return felix.Validate()
		},
	}
}

func typhaParser() parser {
	return parser{
		component: componentTypha, prefix: "TYPHA_",
		parse: func(environ []string) (any, map[string]string, error) {
			config := typhaconfig.New()
			_, err := config.UpdateFrom(typhaconfig.LoadConfigFromEnvironment(environ), typhaconfig.EnvironmentVariable)
			return config, config.RawValues(), err
		},
		validate: func(config any) error {
			typha, ok := config.(*typhaconfig.Config)
			if !ok {
				return fmt.Errorf("%T is not Typha's configuration", config)
			}
			return typha.Validate()
		},
	}
}

func checkFelix(_ context.Context, rendering Rendering, newer *NewerFeatures) ([]Problem, error) {
	// What the image's own script tells Felix besides.
	return felixParser().check(rendering, "DaemonSet", "calico-node", "calico-node", newer, map[string]string{
		"FELIX_FELIXHOSTNAME": "NODENAME", "FELIX_DATASTORETYPE": "DATASTORE_TYPE",
	})
}

func checkTypha(_ context.Context, rendering Rendering, newer *NewerFeatures) ([]Problem, error) {
	return typhaParser().check(rendering, "Deployment", "calico-typha-deploy", "calico-typha", newer, nil)
}

// check parses the parameters one by one, so that complaints have a name, and then together. The map names further parameters
// and the variables that they are taken from.
func (p parser) check(rendering Rendering, kind, name, container string, newer *NewerFeatures, copied map[string]string) ([]Problem, error) {
	found, exists, err := findWorkload(rendering, kind, name)
	if err != nil || !exists {
		return nil, err
	}
	spec, problems := found.container(container)
	if len(problems) > 0 {
		return problems, nil
	}
	variables, problems := found.environment(spec)
	var all []string
	for _, variable := range variables.withPrefix(p.prefix) {
		problem, known := p.parseOne(variable, variables[variable])
		switch {
		case !known && newer.exempts(p.component, variable):
			continue
		case problem != "":
			problems = append(problems, found.problem(container, variable, "%s", problem))
		}
		all = append(all, variable+"="+variables[variable])
	}
	for parameter, variable := range copied {
		if variables[variable] == "" {
			problems = append(problems, found.problem(container, variable, "unset, and so is %s", parameter))
		}
		all = append(all, parameter+"="+variables[variable])
	}
	if len(problems) > 0 {
		return problems, nil
	}
	warnings := captureWarnings(func() {
		var config any
		if config, _, err = p.parse(all); err == nil {
			err = p.validate(config)
		}
	})
	if err != nil {
		warnings = append(warnings, err.Error())
	}
	for _, warning := range warnings {
		problems = append(problems, found.problem(container, p.prefix+"*", "%s", warning))
	}
	return problems, nil
}

// parseOne returns what is wrong with a parameter, and whether the component knows it.
func (p parser) parseOne(variable, value string) (problem string, known bool) {
	if value == "" {
		return "an empty value is passed over", true
	}
	var config any
	var read map[string]string
	var err error
	warnings := captureWarnings(func() { config, read, err = p.parse([]string{variable + "=" + value}) })
	if err != nil {
		return err.Error(), true
	}
	if len(warnings) > 0 {
		return strings.Join(warnings, "; "), true
	}
	for name := range read {
		if field := reflect.ValueOf(config).Elem().FieldByName(name); field.IsValid() {
			return difference(value, field), true
		}
	}
	return "unknown to " + p.component, false
}

// captureWarnings returns what is logged as a warning or worse meanwhile.
func captureWarnings(run func()) []string {
	logger := logrus.StandardLogger()
	output, hooks := logger.Out, logger.Hooks
	hook := &warningHook{}
	logger.SetOutput(io.Discard)
	logger.ReplaceHooks(logrus.LevelHooks{logrus.WarnLevel: {hook}, logrus.ErrorLevel: {hook}})
	defer func() { logger.SetOutput(output); logger.ReplaceHooks(hooks) }()
	run()
	return hook.messages
}

type warningHook struct{ messages []string }

func (*warningHook) Levels() []logrus.Level {
	return []logrus.Level{logrus.WarnLevel, logrus.ErrorLevel}
}

func (h *warningHook) Fire(entry *logrus.Entry) error {
	message := []string{entry.Message}
	for _, field := range []string{logrus.ErrorKey, "default"} {
		if value, ok := entry.Data[field]; ok {
			message = append(message, fmt.Sprintf("%s: %v", field, value))
		}
	}
	h.messages = append(h.messages, strings.Join(message, ", "))
	return nil
}

// difference says how the effective value differs from the written one.
func difference(written string, effective reflect.Value) string {
	if strings.EqualFold(written, "none") {
		if effective.IsZero() {
			return ""
		}
		return fmt.Sprintf("none, but it is %v", effective.Interface())
	}
	if slices.Contains(spellings(effective), strings.ToLower(written)) {
		return ""
	}
	return fmt.Sprintf("%q was written, but it is %v", written, spellings(effective))
}

// spellings lists how a value may be written, in lower case.
func spellings(value reflect.Value) []string {
	if duration, ok := reflect.TypeAssert[time.Duration](value); ok {
		return []string{
			duration.String(), strconv.FormatFloat(duration.Seconds(), 'f', -1, 64), strconv.FormatInt(duration.Milliseconds(), 10),
		}
	}
	switch value.Kind() {
	case reflect.Pointer:
		if value.IsNil() {
			return nil
		}
		return spellings(value.Elem())
	case reflect.Uint32: // bits of packet marks
		return []string{fmt.Sprintf("%d", value.Uint()), fmt.Sprintf("0x%x", value.Uint())}
	case reflect.Slice:
		var elements []string
		for i := range value.Len() {
			elements = append(elements, fmt.Sprint(value.Index(i).Interface()))
		}
		return []string{strings.ToLower(strings.Join(elements, ","))}
	default:
		return []string{strings.ToLower(fmt.Sprint(value.Interface()))}
	}
}
