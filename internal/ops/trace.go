package ops

import (
	"context"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Tracing makes the spans of one process: one for the run, one below it for each phase and
// each private step. The zero value and nil make none.
type Tracing struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	ctx      context.Context
	run      trace.Span
	now      trace.Span // phase or step
	name     string
}

// wanted reports whether the environment asks for spans: an OTLP endpoint is named and
// nothing switches the SDK or traces off.
func wanted() bool {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || os.Getenv("OTEL_TRACES_EXPORTER") == "none" {
		return false
	}
	return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "" ||
		os.Getenv("OTEL_TRACES_EXPORTER") == "otlp"
}

// StartTracing begins the span of a run, exported over OTLP/HTTP to where the OTEL_*
// variables say. Without such variables it returns nil, which is a Tracing that does nothing.
// A collector that does not answer costs spans, never the run.
func StartTracing(ctx context.Context, role Role, version, run string, attrs map[string]int) (*Tracing, error) {
	if !wanted() {
		return nil, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("OpenTelemetry: %w; unset OTEL_* to go on without", err)
	}
	// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win over these. No host, process or
	// command line: a path may be private.
	res, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "privcom-"+string(role)),
		attribute.String("service.version", version)), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OpenTelemetry: %w", err)
	}
	t := &Tracing{provider: sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(res))}
	t.tracer = t.provider.Tracer("github.com/privcom/privcom")
	kv := []attribute.KeyValue{attribute.String("privcom.run", run)}
	var names []string
	for name := range attrs {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		kv = append(kv, attribute.Int("privcom."+name, attrs[name]))
	}
	t.ctx, t.run = t.tracer.Start(context.WithoutCancel(ctx), string(role), trace.WithAttributes(kv...))
	return t, nil
}

// Phase begins the span of a phase, or of one of its steps where total is over 1, and ends
// the one before. Names are out of a fixed list and steps are public numbers.
func (t *Tracing) Phase(phase string, done, total int64) {
	if t == nil {
		return
	}
	name := phase
	if total > 1 {
		name = fmt.Sprintf("%s %d/%d", phase, done+1, total)
	}
	if name == t.name {
		return
	}
	t.endPhase()
	t.name = name
	attrs := []attribute.KeyValue{attribute.String("privcom.phase", phase)}
	if total > 1 {
		attrs = append(attrs, attribute.Int64("privcom.step", done))
	}
	_, t.now = t.tracer.Start(t.ctx, phase, trace.WithAttributes(attrs...))
}

func (t *Tracing) endPhase() {
	if t.now != nil {
		t.now.End()
		t.now = nil
	}
}

// End ends all spans and sends them off. The exit code is the only thing told of an error.
func (t *Tracing) End(code int) {
	if t == nil {
		return
	}
	t.endPhase()
	t.run.SetAttributes(attribute.Int("privcom.exit_code", code))
	if code != 0 {
		t.run.SetStatus(codes.Error, fmt.Sprintf("exit code %d", code))
	}
	t.run.End()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // spans are a courtesy
}
