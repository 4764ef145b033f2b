// Made by `python -m tests.page.types` from the server's own description. Do not edit.
declare namespace Server {
  interface ActionOut {
    action: "state" | "message" | "reassign" | "return" | "person" | "link" | "revoke" | "extend" | "exclude" | "include" | "erase";
    who: string;
    about: string;
    text: string;
    made: string;
  }
  interface AnchorOut {
    at: number;
    text: string;
  }
  interface AnnotatorIn {
    name: string;
  }
  interface AnnotatorOut {
    id: number;
    name: string;
    excluded: boolean;
    reassigned: boolean;
    erased: boolean;
    tasks_finished: number;
    screens: number;
    judgments: number;
    control_judgments: number;
    active_seconds: number;
    faults: ("pace" | "controls")[];
    attention: ("pace" | "controls" | "idle" | "expired")[];
    controls_right: number;
    controls: number;
    last_save: string | null;
    link: LinkStateOut;
  }
  interface AnswerOut {
    score?: number | null;
    rank?: number | null;
    spans?: (SpanOut)[] | null;
    both?: string | null;
    kept?: string | null;
    edit?: string | null;
    comment?: string | null;
    skipped?: string | null;
  }
  interface CampaignHeadOut {
    name: string;
    source_lang: string;
    target_lang: string;
    protocol: string;
    policy: string;
    state: "running" | "paused" | "closed";
    asks: boolean;
  }
  interface CampaignOut {
    id: string;
    name: string;
    protocol: string;
    source: LanguageOut;
    target: LanguageOut;
    scale: ScaleOut;
    criteria: (CriterionOut)[];
    shows: "source" | "reference" | "both" | "nothing";
    navigation: "free" | "back-only" | "strict";
    comments: boolean;
    skip: (string)[] | null;
    ties: boolean;
    ties_apart: boolean;
    rank_labels: (string)[];
    side_by_side: number;
    idle_seconds: number;
    spans: MarkRulesOut | null;
    snap: Record<string, string>;
  }
  interface CategoryOut {
    name: string;
    counts: "severity" | "nothing" | "punctuation" | "non_translation";
  }
  interface ChangeIn {
    output: string;
    score?: number | null;
    rank?: number | null;
    both?: string | null;
    spans?: (SpanIn)[] | null;
    kept?: string | null;
    edit?: string | null;
    comment?: string | null;
    skipped?: string | null;
  }
  interface CompletionOut {
    code: string | null;
    url: string | null;
    more: boolean;
  }
  interface ContextOut {
    source: string | (any)[] | null;
    target: string | (any)[] | null;
  }
  interface CostOut {
    active_seconds: number;
    judgments_per_hour: number | null;
    judgments_per_day: number | null;
    expected_end: string | null;
  }
  interface CriterionOut {
    name: string;
    of: "segment" | "document";
    question: Record<string, string> | null;
    scale: ScaleOut;
  }
  interface DecisionIn {
    excluded: boolean;
    reason: string;
  }
  interface DoneOut {
    changed: number;
  }
  interface EnterIn {
    secret: string;
    person?: string | null;
    signature?: string | null;
  }
  interface EnterOut {
    role: string;
    name: string;
  }
  interface EraseIn {
    name: string;
    judgments?: boolean;
  }
  interface ErasedOut {
    number: number;
    notes: (string)[];
  }
  interface ExtendIn {
    judgments: number;
  }
  interface ExtendedOut {
    said: string;
  }
  interface Fault {
    detail: any;
    code?: string | null;
  }
  interface FilledIn {
    agreed: boolean;
    answers?: Record<string, string | (string)[]>;
  }
  interface FilledInOut {
    wrong: (string)[];
  }
  interface FinishOut {
    finished: boolean;
    missing: (string)[];
  }
  interface FormOut {
    consent: string | (any)[] | null;
    questions: (FormQuestionOut)[];
  }
  interface FormQuestionOut {
    key: string;
    ask: string;
    answers: ([string, string])[];
    several: boolean;
    required: boolean;
    personal: boolean;
  }
  interface HourOut {
    hour: string;
    saves: number;
  }
  interface InstructionsOut {
    short: string;
    body: string | (any)[];
  }
  interface ItemOut {
    asks: (string)[];
    source: string | (any)[] | null;
    reference: string | (any)[] | null;
    note: string | null;
    media: (MediumOut)[];
    outputs: (OutputOut)[];
  }
  interface LanguageOut {
    lang: string;
    dir: "ltr" | "rtl";
  }
  interface LinkOut {
    annotator: number;
    name: string;
    path: string;
  }
  interface LinkStateOut {
    status: "none" | "valid" | "revoked" | "expired";
    entered: string | null;
    expires: string | null;
  }
  interface MarkRulesOut {
    severities: (string)[];
    source: boolean;
    missing: boolean;
    overlap: boolean;
    categories: (CategoryOut)[];
    weights: Record<string, number>;
    warn_below: number;
    warn_above: number;
  }
  interface MediumOut {
    kind: "image" | "audio" | "video";
    place: string;
    number: number;
  }
  interface MessageIn {
    text: string;
    annotator?: number | null;
  }
  interface MessageOut {
    number: number;
    text: string;
    sent: string;
  }
  interface NewsOut {
    state: "running" | "paused" | "closed";
    messages: (MessageOut)[];
  }
  interface OtherLinkOut {
    status: "none" | "valid" | "revoked" | "expired";
    entered: string | null;
    expires: string | null;
    id: number;
    role: string;
    label: string;
    created: string;
  }
  interface OutputOut {
    id: string;
    text: string | (any)[];
    expected: [number, number] | null;
    to_mark: (string)[];
    explanation: string | null;
    prefilled: (SpanOut)[];
    more: (QuestionOut)[];
    media: (MediumOut)[];
  }
  interface OverviewOut {
    campaign: CampaignHeadOut;
    progress: ProgressOut;
    cost: CostOut;
    throughput: (HourOut)[];
    annotators: (AnnotatorOut)[];
    actions: (ActionOut)[];
    warnings: (WarningOut)[];
    links: (OtherLinkOut)[];
  }
  interface PanelBarOut {
    label: string;
    value: number;
    shown: string;
    flagged: boolean;
  }
  interface PanelIntervalOut {
    label: string;
    low: number;
    estimate: number;
    high: number;
    settled: boolean;
  }
  interface PanelOut {
    title: string;
    columns: (string)[];
    rows: ((string)[])[];
    note: string;
    headline: string;
    intervals: (PanelIntervalOut)[];
    ranks: (PanelRanksOut)[];
    bars: (PanelBarOut)[];
  }
  interface PanelRanksOut {
    label: string;
    best: number;
    worst: number;
    of: number;
  }
  interface PersonOut {
    id: number;
    name: string;
  }
  interface ProgressOut {
    tasks_wanted: number;
    tasks_finished: number;
    tasks_in_hand: number;
    judgments_wanted: number;
    judgments: number;
    control_judgments: number;
  }
  interface QuestionOut {
    id: string;
    criterion: number;
  }
  interface ReassignIn {
    back?: boolean;
  }
  interface SaveIn {
    id: string;
    annotator: number;
    task: string;
    screen: string;
    base: number;
    tab?: string | null;
    number?: number;
    age?: number;
    changes?: (ChangeIn)[];
    spent?: SpentIn;
    events?: ((string | number | null)[])[];
  }
  interface SavedOut {
    id: string;
    saved: string;
    state: StateOut;
    met: (string)[];
    repeated: boolean;
    released: boolean;
  }
  interface ScaleOut {
    low: number;
    high: number;
    step: number;
    anchors: (AnchorOut)[];
  }
  interface ScreenOut {
    id: string;
    context_before: (ContextOut)[];
    items: (ItemOut)[];
    context_after: (ContextOut)[];
    whole: ((QuestionOut)[])[];
  }
  interface SpanIn {
    start?: number | null;
    end?: number | null;
    severity: string;
    category?: string | null;
    side?: string;
    text?: string | null;
    of?: number | null;
  }
  interface SpanOut {
    start: number | null;
    end: number | null;
    severity: string;
    category: string | null;
    side: string;
    text: string | null;
    of: number | null;
  }
  interface SpentIn {
    shown?: number;
    visible?: number;
    active?: number;
    outputs?: Record<string, number>;
  }
  interface StateIn {
    state: "running" | "paused" | "closed";
  }
  interface StateOut {
    revision: number;
    answers: Record<string, AnswerOut>;
    complete: boolean;
    active_seconds: number;
    wrong: (string)[];
  }
  interface StatisticsOut {
    panels: (PanelOut)[];
    computed: string | null;
    judgments: number | null;
    computing: boolean;
  }
  interface SummaryOut {
    name: string;
    protocol: string;
    source_lang: string;
    target_lang: string;
    state: "running" | "paused" | "closed";
    progress: ProgressOut;
    attention: number;
    last_save: string | null;
    expected_end: string | null;
    verdict: VerdictOut | null;
  }
  interface TaskOut {
    id: string;
    number: number;
    kind: "work" | "calibration" | "tutorial";
    complete: boolean;
    finished: boolean;
    released: boolean;
    screens: (ScreenOut)[];
    states: Record<string, StateOut>;
  }
  interface TaskSummaryOut {
    id: string;
    number: number;
    kind: "work" | "calibration" | "tutorial";
    complete: boolean;
    finished: boolean;
    released: boolean;
  }
  interface VerdictOut {
    headline: string;
    computed: string;
    judgments: number;
  }
  interface WarningOut {
    kind: "pool" | "plan" | "person" | "uneven";
    few: number;
    many: number;
    names: (string)[];
  }
  interface WorkOut {
    annotator: PersonOut;
    campaign: CampaignOut;
    tasks: (TaskSummaryOut)[];
    form: boolean;
    task: TaskOut | null;
    completion: CompletionOut | null;
    tasks_planned: number | null;
    active_seconds: number;
    news: NewsOut;
  }
}
