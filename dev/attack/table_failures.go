package main

// failures are what fails without an attacker: nothing is written twice, backwards or never.
func failures() []Row {
	return rows(KindFailure,
		held("Temporal stops, is killed or is away amid creations", "dev/e2e TestTemporalAway", "dev/e2e TestCrash"),
		held("workers are killed again and again amid creations", "dev/e2e TestChaos", "dev/e2e TestCrash"),
		held("bad answers to reads and writes", "dev/attack TestBadAnswers", "dev/e2e TestHangs"),
		held("bad answers of operation URLs", "arm/corpus TestOperationsSurviveBrokenPolls", "arm TestPollInterval"),
		held("many applies of one resource at once", "dev/attack TestManyApplies"),
		held("terminate or reset amid an operation", "dev/e2e TestCrash"),
		held("two versions of the worker on one queue", "dev/e2e TestVersionsBack", "dev/e2e TestReplacedWorker"),
		held("two workers with different mask keys", "dev/attack TestMaskKeysDiffer"),
		held("clocks of workers differ", "dev/e2e TestClocksOfWorkers"),
		held("a worker is paused while another one takes over", "dev/e2e TestFence"),
		held("a worker dies in a DELETE, and the resource is created again", "activities TestDeleteReadsBeforeItRepeats", "dev/e2e TestCrash"),
		held("an older database is restored", "dev/e2e TestRestore", "dev/e2e TestRestoreFenced"),
		held("reads that lag behind a PUT", "activities TestGuardOlderReads", "workflows TestDisturbedReads"),
		held("an absence that lags behind a PUT", "activities TestGuardUnshownPut", "activities TestKnownAbsent"),
		held("the owner of a value moves it", "drift TestOwned", "workflows TestOwnedValues", "workflows TestSwitchChanges"),
		held("a correction beside items of others", "workflows TestForeignItems", "drift TestHoldKeepsEverything"),
		held("a PUT deletes what no manifest names", "activities TestDeletesUnmanaged", "starter/internal/cli TestDeletesUnmanaged"),
		held("the answer to a creation is lost", "workflows TestUnansweredCreation", "drift TestIsCreation"),
		held("a replacement takes what does not come back", "activities TestGuardReplaceDependents", "dev/e2e TestReplacementRefused"),
	)
}
