package when_test

import (
	"fmt"

	"fairlead/gateway/cron/when"
)

func ExampleParse() {
	for _, text := range []string{"90m", "2 hours", "7 days"} {
		d, err := when.Parse(text)
		fmt.Println(d, err)
	}
	// Output:
	// 1h30m0s <nil>
	// 2h0m0s <nil>
	// 168h0m0s <nil>
}

func ExampleOfDay() {
	hour, minute, err := when.OfDay("6:30pm")
	fmt.Println(hour, minute, err)
	// Output: 18 30 <nil>
}
