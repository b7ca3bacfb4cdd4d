package bench

import (
	"fmt"
	"time"

	"basalt/api/bench/micro"
	"basalt/api/bench/report"
)

// micro measures building blocks in this process; the server idles meanwhile.
func (r *run) micro() (report.Section, error) {
	return micro.Section(r.ctx, micro.Options{
		Rounds: r.options.Rounds,
		For:    r.lasting(300 * time.Millisecond),
		Progress: func(done, all int) {
			r.progress.Step(fmt.Sprintf("measurement %d of %d", done+1, all))
		},
	})
}
